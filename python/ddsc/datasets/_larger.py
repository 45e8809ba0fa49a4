"""Descriptions of public data sets that are too large to be included in the package."""

from __future__ import annotations

from typing import Dict, NamedTuple, Tuple


class Larger(NamedTuple):
    """A public data set that is not included in the package."""

    name: str
    about: str
    origin: str
    """The page of the authors."""
    terms: str
    reading: str
    """The command for reading it."""
    sha256: Dict[str, str]
    """The hash of each file after decompression; empty if none is known."""
    checked: bool
    """True if ddsc has read files with these hashes. Otherwise, the hashes are values published elsewhere."""


LARGER: Tuple[Larger, ...] = (
    Larger(
        "MNIST",
        "70,000 handwritten digits, 28 x 28",
        "https://yann.lecun.com/exdb/mnist/",
        "Y. LeCun, C. Cortes, C. Burges; generally given as CC BY-SA 3.0",
        "ddsc cluster train-images-idx3-ubyte.gz --labels train-labels-idx1-ubyte.gz -k 10 -o result",
        {
            "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        },
        True,
    ),
    Larger(
        "Fashion-MNIST",
        "70,000 pieces of clothing, 28 x 28, ten kinds",
        "https://github.com/zalandoresearch/fashion-mnist",
        "MIT, (c) 2017 Zalando SE",
        "ddsc cluster train-images-idx3-ubyte.gz --labels train-labels-idx1-ubyte.gz -k 10 -o result",
        {
            "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        },
        True,
    ),
    Larger(
        "BBC",
        "2,225 news stories of five kinds, a folder of texts for each; also BBCSport (737, five sports)",
        "http://mlg.ucd.ie/datasets/bbc.html",
        "the BBC owns the articles; offered for research (Greene, Cunningham, ICML 2006)",
        "ddsc text bbc/ -o bbc.npz",
        {"bbc-fulltext.zip": "a351031a62325b3d7ff13146eeb035c22feca8290913b5183d1ff3be35109495"},
        False,
    ),
    Larger(
        "Reuters-21578",
        "21,578 stories of 1987 in SGML; 1,314 have one of five topics alone",
        "https://archive.ics.uci.edu/dataset/137/reuters+21578+text+categorization+collection",
        "research only; cite Reuters-21578, Distribution 1.0",
        "ddsc text stories.tsv --text title,body --label topic -o reuters.npz",
        {},
        False,
    ),
    Larger(
        "GloVe 6B",
        "vectors of 400,000 words in 50 to 300 dimensions, for documents",
        "https://nlp.stanford.edu/projects/glove/",
        "Public Domain Dedication and License 1.0 (Pennington, Socher, Manning 2014)",
        "ddsc text docs.tsv --vectors glove.6B.100d.txt -o docs.npz",
        {"glove.6B.zip": "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb"},
        False,
    ),
    Larger(
        "BCR-XL",
        "blood of eight donors at rest and stimulated, by mass cytometry: 16 samples, 24 markers",
        "https://bioconductor.org/packages/HDCytoData",
        "cite Bodenmiller et al., Nature Biotechnology 2012",
        "ddsc cluster *.fcs --arcsinh 5 --columns 'CD*,p*' -k 2 -o result",
        {},
        False,
    ),
)
