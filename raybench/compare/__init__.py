"""Which of two models is better, and is it sure? Runs that are over, compared from their journals.

command.py     `python -m raybench.compare RUN RUN …`
finding.py     what a RUN on the command line means: a folder, a run's name, an MLflow run id
runs.py        a run as it lies on the disk
ways.py        which way runs are compared
pairing.py     who is compared with whom
settings.py    what else than the model differs between two sides
found.py       what a comparison is made of
results.py     what a run says of a model
flips.py       items with which two sides fared otherwise, and where each is read
matches.py     matches as journals tell them, and those that flipped
means.py       differences of means, paired or of independent runs
judging.py     Holm's correction, verdicts and their words
questions/     fixed benchmarks: paired questions, indices, questions that flipped
autobench.py, games.py, ablations.py, biases.py, optimised.py, phrasings.py, screening.py, suites.py
               the other experiments, each its own way
shown/         terminal, JSON, HTML
"""
