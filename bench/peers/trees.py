"""Gradient-boosted trees (LambdaMART) on rows of questions. Reads a folder and writes the scores of its held-out rows to it."""
import json
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np

folder = Path(sys.argv[1])
settings = json.loads((folder / 'settings.json').read_text())
F = settings['signals']
rows = np.fromfile(folder / 'columns.f32', dtype=np.float32).reshape(F, -1).T
relevant = np.fromfile(folder / 'relevant.u8', dtype=np.uint8)
starts = np.fromfile(folder / 'starts.i32', dtype=np.int32)
inner = np.fromfile(folder / 'inner.i32', dtype=np.int32)  # [Q] the inner fold of each question
held = np.fromfile(folder / 'held.f32', dtype=np.float32).reshape(-1, F)

PARAMETERS = dict(
    objective='lambdarank', metric='ndcg', eval_at=[10], lambdarank_truncation_level=20,
    learning_rate=0.05, num_leaves=15, min_data_in_leaf=60, lambda_l2=5,
    feature_fraction=0.3, bagging_fraction=0.7, bagging_freq=1,
    seed=settings['seed'], deterministic=True, num_threads=1, verbose=-1,
)


def gather(questions):
    taken = np.concatenate([np.arange(starts[q], starts[q + 1]) for q in questions])
    return lgb.Dataset(rows[taken], relevant[taken], group=[starts[q + 1] - starts[q] for q in questions])


best = []
for fold in range(settings['innerFolds']):
    training, validation = gather(np.flatnonzero(inner != fold)), gather(np.flatnonzero(inner == fold))
    stop = lgb.early_stopping(50, verbose=False)
    model = lgb.train(PARAMETERS, training, settings['rounds'], valid_sets=[validation], callbacks=[stop])
    best.append(model.best_iteration)
# More rows take more trees: those of the inner folds, times the share of rows that they lacked.
rounds = max(1, round(float(np.mean(best)) * settings['innerFolds'] / max(1, settings['innerFolds'] - 1)))
model = lgb.train(PARAMETERS, gather(np.arange(len(inner))), rounds)
model.predict(held).astype(np.float32).tofile(folder / 'scores.f32')
print(json.dumps({'rounds': rounds}))
