"""Contains the tables of the paper, as printed."""

TEXTS = ("bbcsport", "bbc", "reuters")
IMAGES = ("mnist", "fashion-mnist")
SETS = TEXTS + IMAGES
TITLE = {"bbcsport": "BBCSport", "bbc": "BBC", "reuters": "Reuters", "mnist": "MNIST", "fashion-mnist": "Fashion-MNIST"}
METRICS = ("mmd", "sinkhorn", "w2", "lot")
BASELINES = ("kmeans", "sc", "d2", "pd2")
TRUE_K = {**dict.fromkeys(TEXTS, 5), **dict.fromkeys(IMAGES, 10)}

# Tables of text and images: (AMI, ARI).
SCORES = {
    "bbcsport": {"kmeans": (.3408, .3213), "sc": (.3646, .2749), "d2": (.6234, .4665), "pd2": (.6300, .4680),
                 "mmd": (.6724, .5399), "sinkhorn": (.7855, .7514), "w2": (.7755, .7424), "lot": (.7150, .6712)},
    "bbc": {"kmeans": (.5328, .4950), "sc": (.4891, .4659), "d2": (.6111, .5572), "pd2": (.6822, .6736),
            "mmd": (.7108, .6479), "sinkhorn": (.7579, .7642), "w2": (.7549, .7585), "lot": (.7265, .7499)},
    "reuters": {"kmeans": (.4783, .4287), "sc": (.3955, .3265), "d2": (.4244, .3966), "pd2": (.4958, .3909),
                "mmd": (.5803, .5105), "sinkhorn": (.6096, .5457), "w2": (.6096, .5457), "lot": (.5290, .4325)},
    "mnist": {"kmeans": (.5074, .3779), "sc": (.4497, .3252), "d2": (.3649, .2172), "mmd": (.7755, .6742),
              "sinkhorn": (.6974, .6150), "w2": (.7073, .6199), "lot": (.6754, .4992)},
    "fashion-mnist": {"kmeans": (.5557, .4137), "sc": (.5135, .3175), "d2": (.5693, .4174), "mmd": (.6553, .4912),
                      "sinkhorn": (.6332, .4346), "w2": (.6292, .4691), "lot": (.6309, .4469)},
}
# The columns "Average Score" of the text table, and its rows marked *, which quote Huang et al. (AMI only).
AVERAGE = {"kmeans": (.4506, .4150), "sc": (.4164, .3558), "d2": (.5530, .4734), "pd2": (.6027, .5108),
           "mmd": (.6545, .5661), "sinkhorn": (.7177, .6871), "w2": (.7133, .6802), "lot": (.6580, .6129)}
STARRED = {"kmeans": (.4276, .3877, .4627, .4260), "d2": (.6510, .6095, .4200, .5602), "pd2": (.6892, .6557, .4713, .6054)}
# Table 2: N, d, n, K.
DATA = {"bbcsport": (737, 300, 16, 5), "bbc": (2225, 300, 16, 5), "reuters": (1209, 300, 16, 5),
        "mnist": (1000, 2, 784, 10), "fashion-mnist": (1000, 2, 784, 10)}
SHAPES = {"kmeans": 0.0, "sc": 0.0, "d2": 0.0, "lot": 1.0, "mmd": 1.0, "w2": 1.0, "sinkhorn": 1.0}
SECONDS = {"d2": (99.3, 640.2, 305.7, 910.5, 2250.0), "mmd": (24.5, 200.8, 80.4, 376.1, 364.0),
           "sinkhorn": (86.0, 1252.7, 755.9, 845.9, 3075.4), "w2": (44.9, 427.7, 139.9, 1545.5, 10595.1),
           "lot": (12.1, 73.8, 38.2, 251.2, 251.0)}
INCOMPLETE = {90: (.776, .588), 80: (.713, .448), 70: (.778, .587), 60: (.772, .586), 50: (.770, .581),
              40: (.704, .452), 30: (.765, .579), 20: (.656, .392), 10: (.640, .387)}
COMPLEXITY = {"d2": "T2 N m^2 + N K m^3 log m", "mmd": "N^2 m^2 + N^3", "sinkhorn": "T1 N^2 m^2 + N^3",
              "w2": "N^2 m^3 log m + N^3", "lot": "N m^3 log m + N^3"}
