"""Fits boosted trees to made-up data: with XGBoost if it is installed, else decision stumps."""

import random

from workload import optional, options, run_epochs

ARGS = options(__doc__, epochs=50, size=0)
FEATURES = 8


def target(row):
    return 2.0 * (row[0] > 0.5) - 1.0 * (row[1] > 0.3) + row[2]


def with_xgboost(xgboost, numpy):
    torch = optional("torch")
    device = "cuda" if torch and torch.cuda.is_available() else "cpu"
    draw = numpy.random.default_rng(ARGS.seed)
    rows = draw.random((ARGS.size or (1000000 if device == "cuda" else 20000), FEATURES))
    wanted = 2.0 * (rows[:, 0] > 0.5) - 1.0 * (rows[:, 1] > 0.3) + rows[:, 2]
    data = xgboost.DMatrix(rows, label=wanted)
    kept = {}

    def epoch(_):
        kept["model"] = xgboost.train({"device": device, "max_depth": 6}, data, 1,
                                      xgb_model=kept.get("model"))
        return float(numpy.mean((kept["model"].predict(data) - wanted) ** 2))

    run_epochs(ARGS.epochs, f"XGBoost on {device}", epoch)


def with_python():
    draw = random.Random(ARGS.seed)
    rows = [[draw.random() for _ in range(FEATURES)] for _ in range(ARGS.size or 1500)]
    left = [target(row) for row in rows]  # what the trees so far do not explain

    def stump(feature, cut):
        sides = ([], [])
        for row, rest in zip(rows, left):
            sides[row[feature] > cut].append(rest)
        means = [sum(side) / len(side) if side else 0.0 for side in sides]
        gain = sum(mean * mean * len(side) for mean, side in zip(means, sides))
        return gain, feature, cut, means

    def epoch(_):
        _, feature, cut, means = max(stump(f, c / 5) for f in range(FEATURES) for c in range(1, 5))
        for i, row in enumerate(rows):
            left[i] -= 0.5 * means[row[feature] > cut]
        return sum(rest * rest for rest in left) / len(left)

    run_epochs(ARGS.epochs, "plain Python", epoch)


if __name__ == "__main__":
    XGBOOST, NUMPY = optional("xgboost"), optional("numpy")
    with_xgboost(XGBOOST, NUMPY) if XGBOOST and NUMPY else with_python()
