// A fusion: the largest score that any signal gives, each divided by its own maximum.
import { definePlugin } from 'rag-plusplus';

export default definePlugin({
  name: 'best-fusion',
  version: 1,
  fusions: [
    {
      name: 'best-of',
      description: 'the best share of a maximum',
      fuse(columns) {
        const shares = Object.values(columns).map((column) => {
          const most = Math.max(...column.filter(Number.isFinite), 1e-12);
          return column.map((score) => (Number.isFinite(score) ? score / most : 0));
        });
        return (shares[0] as Float64Array).map((_, c) => Math.max(...shares.map((column) => column[c] as number)));
      },
    },
  ],
});
