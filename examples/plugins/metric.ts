// A metric: the mean grade of the first k places, an unjudged turn counting 0.
import { definePlugin } from 'rag-plusplus';

export default definePlugin({
  name: 'graded-metric',
  version: 1,
  metrics: [
    {
      name: 'mean-grade',
      description: 'Mean grade of the documents',
      cutoff: 'required',
      compute: ({ grades }, k) => grades.subarray(0, k).reduce((sum, grade) => sum + Math.max(0, grade), 0) / k,
    },
  ],
});
