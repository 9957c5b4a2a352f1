"""Indexes and searches the texts of bench/peers/works/bm25.ts with bm25s, compiled by numba, or with tantivy.

Usage: bm25.py FOLDER PEER.
"""

import functools
import pathlib
import sys

from serve import serve

K1, B = 1.2, 0.75
DEPTHS = [10, 100]
VARIANTS = ["robertson", "atire"]
VISIBLE = 3
ASKED_OF_INDEX = 20


class Bm25s:
    def __init__(self, method="lucene"):
        import bm25s

        self.open = lambda: bm25s.BM25(method=method, k1=K1, b=B, backend="numba")

    def build(self, texts):
        index = self.open()
        index.index([text.split() for text in texts], show_progress=False)
        self.index = index

    def search(self, queries, k, mask=None):
        words = [query.split() for query in queries]
        return self.index.retrieve(words, k=k, show_progress=False, n_threads=0, weight_mask=mask)

    def list_rankings(self, found):
        """Position and score of each rank of each query; -1 and 0 without a candidate."""
        positions, scores = found
        return [
            number
            for row in zip(positions.tolist(), scores.tolist())
            for position, score in zip(*row)
            for number in ((position, score) if score > 0 else (-1, 0))
        ]


class Tantivy:
    def __init__(self):
        import tantivy

        self.tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=False, tokenizer_name="whitespace", index_option="freq")
        self.schema = builder.build()

    def build(self, texts):
        index = self.tantivy.Index(self.schema)
        writer = index.writer(heap_size=300_000_000, num_threads=1)
        for text in texts:
            writer.add_document(self.tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self.searcher = index.searcher()
        assert self.searcher.num_segments == 1, "positions are those of one segment"

    def search(self, queries, k):
        should, term = self.tantivy.Occur.Should, self.tantivy.Query.term_query
        found = []
        for query in queries:
            words = [(should, term(self.schema, "text", word)) for word in query.split()]
            hits = self.searcher.search(self.tantivy.Query.boolean_query(words), k, count=False).hits
            found.append((hits, k))
        return found

    def list_rankings(self, found):
        """tantivy multiplies every score by k1 + 1."""
        numbers = []
        for hits, k in found:
            for score, address in hits:
                numbers.extend((address.doc, score / (K1 + 1)))
            numbers.extend([-1, 0] * (k - len(hits)))
        return numbers


def main(folder, peer):
    texts = (folder / "texts.txt").read_text().split("\n")
    queries = (folder / "queries.txt").read_text().split("\n")
    open_index = {"bm25s": Bm25s, "tantivy": Tantivy}[peer]
    index = open_index()

    def build():
        index.build(texts)
        return lambda: index.list_rankings(index.search(queries[:ASKED_OF_INDEX], DEPTHS[0]))

    def search(k):
        found = index.search(queries, k)
        return lambda: index.list_rankings(found)

    def search_texts():
        index.build(texts)
        return search(DEPTHS[0])

    searches = {f"bm25-search/k{k}": (lambda k=k: search(k)) for k in DEPTHS}

    @functools.cache
    def open_many():
        many = open_index()
        many.build((folder / "many.txt").read_text().split("\n"))
        return many

    def search_many(k):
        found = open_many().search(queries, k)
        return lambda: index.list_rankings(found)

    variants = {}

    def search_variant(method):
        if method not in variants:
            variants[method] = Bm25s(method)
            variants[method].build(texts)
        found = variants[method].search(queries, DEPTHS[1])
        return lambda: index.list_rankings(found)

    def search_visible():
        import numpy

        mask = numpy.arange(len(texts)) % VISIBLE == 0
        found = index.search(queries, DEPTHS[1], mask.astype(numpy.float32))
        return lambda: index.list_rankings(found)

    of_variants = {f"bm25-search/{m}/k{DEPTHS[1]}": (lambda m=m: search_variant(m)) for m in VARIANTS}
    of_many = {f"bm25-search/many/k{k}": (lambda k=k: search_many(k)) for k in DEPTHS}
    others = {**of_variants, f"bm25-search/visible/k{DEPTHS[1]}": search_visible, **of_many}
    serve({"bm25-index": build, f"bm25-texts/k{DEPTHS[0]}": search_texts, **searches, **others})


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
