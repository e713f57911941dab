"""How hard the digits' test images are: scikit-learn's classifiers on the very images that `vision-digits` is judged
on, in five-fold cross-validation on all others, and on the test images of a hundred split seeds.

    python benchmarks/digits_peers.py

Prints one JSON object. Settings are scikit-learn's defaults, and the gamma of its digits example: none is chosen here.
"""

from __future__ import annotations

import json
import statistics
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from clearformer.data.images import Pictures, stratified
from clearformer.data.made import digits
from clearformer.tasks.vision import ImageData

SPLITS = 100
PEERS: dict[str, Any] = {
    "SVM, RBF, gamma 0.001": SVC(gamma=0.001),
    "SVM, RBF, defaults": SVC(),
    "1 nearest neighbour": KNeighborsClassifier(1),
    "3 nearest neighbours": KNeighborsClassifier(3),
}
ACROSS = "SVM, RBF, gamma 0.001"


def main() -> None:
    pictures, settings = digits(), ImageData(path="digits")
    pixels, labels = pictures.images.reshape(len(pictures.images), -1) * (16 / 255), pictures.labels
    others, tested = _cut(pictures, settings, settings.split_seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    told: dict[str, Any] = {}
    for name, peer in PEERS.items():
        guessed = cross_val_predict(peer, pixels[others], labels[others], cv=folds)
        wrong = tested[peer.fit(pixels[others], labels[others]).predict(pixels[tested]) != labels[tested]]
        told[name] = {
            "cross_validated": float((guessed == labels[others]).mean()),
            "test": 1 - len(wrong) / len(tested),
            "wrong": wrong.tolist(),
        }
    found = []
    for seed in range(SPLITS):
        others, tested = _cut(pictures, settings, seed)
        guessed = PEERS[ACROSS].fit(pixels[others], labels[others]).predict(pixels[tested])
        found.append(float((guessed == labels[tested]).mean()))
    told[f"{ACROSS}, {SPLITS} split seeds"] = {
        "mean": statistics.fmean(found),
        "deviation": statistics.stdev(found),
        "least": min(found),
        "recipe's": found[settings.split_seed],
        "splits no easier": sum(each <= found[settings.split_seed] for each in found),
        "splits of 98 % or more": sum(each >= 0.98 for each in found),
    }
    print(json.dumps(told, indent=1))


def _cut(pictures: Pictures, settings: ImageData, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(all other images, test images) as the recipe cuts them with this split seed."""
    trained, watched, tested = stratified(pictures.labels, (settings.validation, settings.test), seed, pictures.names)
    return np.sort(np.concatenate((trained, watched))), tested


if __name__ == "__main__":
    main()
