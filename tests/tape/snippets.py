"""Calls of the public Python functions: rows of every make, classes, groups, refusals; results as text."""

import itertools
from collections.abc import Iterator

PRELUDE = """
import json, sys, warnings
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import calibcli

table = pq.read_table("rows.parquet")
rows = {name: table[name].to_pylist() for name in table.column_names}
score, label, old = (np.array(rows[name]) for name in ("score", "label", "old"))
classes = pq.read_table("classes.parquet")
matrix = np.stack([np.array(classes[f"p_{one}"]) for one in ("cat", "dog", "emu")], 1)
named = classes["label"].to_pylist()

def pandas(table=table):
    return table.to_pandas()

def polars(table=table):
    import polars as pl
    return pl.from_arrow(table)

def say(what):
    if hasattr(what, "to_json"):
        print(what.to_json())
        print(repr(what)[:4000])
        print(sorted(one for one in dir(what) if not one.startswith("_")))
    elif isinstance(what, np.ndarray):
        print(what.dtype, what.shape, [repr(one) for one in what.ravel()[:200].tolist()])
    elif type(what).__name__ in ("DataFrame", "Series", "Table"):
        print(type(what).__module__.split(".")[0], what.to_string(max_rows=60) if hasattr(what, "to_string") else what)
        print(what.to_csv() if hasattr(what, "to_csv") else "")
    else:
        print(type(what).__name__, repr(what)[:4000])

def tried(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            say(call())
        except Exception as error:
            print(type(error).__mro__[:-2], error)
            print(getattr(error, "hint", None), getattr(error, "exit_code", None))
            print(repr(error.__cause__))
    for one in caught:
        print(one.category.__name__, one.message)

"""
# First arguments of the functions, and where the rows are columns, the names of them.
ROWS = ["score, label", "score.tolist(), label.astype(bool).tolist()", "table, score='score', label='label'", "pandas(), score='score', label='label'",
        "polars(), score='score', label='label'", "rows, score='score', label='label'", "pandas()['score'], pandas()['label']", "polars()['score'], polars()['label']",
        "'rows.csv', score='score', label='label'", "['rows.csv', 'fit.csv'], score='score', label='label'", "pa.array(score), pa.chunked_array([label])",
        "matrix, named, classes=['cat', 'dog', 'emu']", "classes, probs='p_*', label='label'", "pandas(classes), probs=['p_cat', 'p_dog', 'p_emu'], label='label'",
        "'classes.csv', probs='p_*', label='label'", "np.stack([1 - score, score], 1), label", "score.astype(np.float32), label.astype(np.int8)", "'summary.json'"]  # fmt: skip
BAD_ROWS = ["score, label[:-1]", "score[:0], label[:0]", "score * 2, label", "np.where(score < 0.1, np.nan, score), label", "score, label + 1", "'nothing.csv'", "score", "5, 6",
            "score.astype(str), label", "matrix * 2, named", "matrix, ['x'] * 400", "pandas()['score'], pandas()['label'][::-1]", "table, score='nothing', label='label'", "score, [None] * 400",
            "table", "matrix[:, :1], named", "score.reshape(-1, 1), label", "[], []", "None, None", "'empty.csv'", "'report.json'", "'cal_platt.json'"]  # fmt: skip
COMMON = ["", "weight='weight'", "by='country'", "where='country==UK'", "limit=100", "sample=100, seed=3", "exact=True", "memory='1K'", "jobs=1", "on_missing='drop'", "on_range='clip'", "weights_are='frequency', weight='times'",
          "positive=1", "scale='logit'", "where=['device==1', 'score<=0.5']", "input_format='csv'", "encoding='latin-1'", "delimiter=';'", "decimal=','"]  # fmt: skip
WRONG = ["weight='nothing'", "by='nothing'", "where='country'", "limit=0", "sample=-1", "memory='many'", "jobs=0", "on_missing='x'", "on_range='x'", "weights_are='x'", "scale='x'", "seed=-1", "seed='x'", "engine='x'", "engine_address='x'",
         "bins=0", "bins='x'", "binning='x'", "confidence=2", "confidence='x'", "nothing=1", "view='x'", "one_class='dog'", "on_sum='x'", "classes=['a', 'b']", "probs='p_*'", "exact=1", "exact=True, memory='1K'", "weight=[1, 2]", "limit=1.5", "where=5", "allow_edited=True"]  # fmt: skip
OWN = {
    "measure": ["metric='ece'", "metric=['brier', 'ks', 'all']", "metric='nothing'", "bins=5, binning='equal-mass'", "edges=[0, 0.3, 1]", "edges=[0.3, 0]", "bounds=True", "cluster='patient'", "by=['country', 'device'], min_group_rows=20", "confidence=0.8", "raw=True",
                "artifact='cal_platt.json'", "artifact=calibcli.load('cal_isotonic.json')", "artifact='cal_by.json'", "artifact='report.json'", "view='one-vs-rest'", "view='top-label'", "view='one-vs-rest', one_class='dog'", "power=1.0, metric='lp'", "score=['score', 'old']",
                "metric='accuracy'", "on_sum='normalise'", "artifact='classes_vector.json'", "by={'g': rows['country']}", "weight=np.array(rows['weight'])", "cluster=rows['patient']"],
    "fit": ["method='isotonic'", "method='auto'", "method='venn-abers'", "method='scaling-binning', bins=5", "method='x'", "by='country', min_group_rows=50", "multiclass='matrix'", "multiclass='x'", "multiclass='one-vs-rest', method='beta'", "loss='brier'", "smooth_targets=True",
            "method='isotonic', step=True", "method='smooth', randomised=True", "method='auto', folds=3, group='patient'", "method='auto', candidate=['platt', 'beta']", "candidate='platt'", "base='beta'", "beta_form='a'", "split='three-way'", "method='beta', beta_form='ab'", "folds=1", "output_sum='free'"],
    "verify": ["max_ece=0.2", "max_ece=0.001", "max_smece=0.2", "max_dce=0.3", "max_l2=0.1", "max_linf=0.1", "rule='ks.p>=0.01'", "rule=['brier<=0.5', 'ece']", "max_ece=-1", "max_ece=0.2, by='country'", "max_ece=0.2, artifact='cal_beta.json'", "baseline='report.json', max_regression=0.1",
               "baseline_score='old', max_regression=0.1", "max_regression=0.1", "max_ece=0.2, state='gate.json', batch='b'", "max_ece=0.2, state='new.json', row_id='id'", "max_ece=0.2, alarm=True", "max_ece=0.2, inconclusive='pass'", "max_ece=0.2, inconclusive='x'", "max_ece=0.2, min_rows=9999",
               "max_ece=0.2, view='one-vs-rest'", "max_ece=0.2, bins='none'", "max_ece='x'", "max_ece=0.2, planned_rows=900"],
    "compare": ["score=['score', 'old']", "score=['score', 'old'], fail_if_worse=True", "artifact='cal_beta.json'", "artifact=['cal_beta.json', 'cal_isotonic.json']", "artifact='classes_vector.json'", "score=['score', 'old'], metric='ece'", "score=['score', 'old'], metric='x'", "allow_fit_rows=True, artifact='cal_beta.json'", "view='one-vs-rest', artifact='classes_matrix.json'"],
    "plot": ["path='out.png'", "path='out.svg', kind='binned'", "path='out.pdf', kind='residual'", "kind='x'", "path='out.xyz'", "path='rows.csv'", "path='out.svg', by='country'", "path='out.svg', view='one-vs-rest'", "path='out.svg', artifact='cal_isotonic.json', kind='compare'", "path='out.svg', size='x'", "path='out.svg', theme='dark', title='T'"],
}  # fmt: skip
APPLIED = [
    "score",
    "score.tolist()",
    "table",
    "pandas()",
    "polars()",
    "pandas()['score']",
    "polars()['score']",
    "rows",
    "matrix",
    "classes",
    "pandas(classes)",
    "0.5",
    "score * 2",
    "np.nan * score",
    "[]",
    "'rows.csv'",
    "None",
    "polars(classes)",
    "pa.array(score)",
    "matrix.tolist()",
]
MAPS = ["platt", "isotonic", "venn-abers", "by", "logit", "auto", "scaling-binning"]


def every() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every call."""
    for function, own in OWN.items():
        requested = {
            "verify": "max_ece=0.2",
            "plot": "path='out.svg'",
            "compare": "artifact='cal_beta.json'",
            "measure": "metric=['ece', 'brier', 'ks']",
        }.get(function, "")
        calls = [f"{one}, {requested}" for one in (*ROWS, *BAD_ROWS)]
        calls += [
            f"{base}, {requested}, {more}"
            for base, more in itertools.product((ROWS[2], ROWS[0]), (*COMMON, *WRONG))
        ][:: 1 if function == "measure" else 2]
        calls += [
            f"{base}, {more}" for base, more in itertools.product((ROWS[2], ROWS[0], ROWS[12], ROWS[8]), own)
        ]
        calls = [one for number, one in enumerate(calls) if function != "plot" or number % 3 == 0]
        for arguments in calls:
            if not _twice(arguments):
                yield f"python {function}", f"{PRELUDE}tried(lambda: calibcli.{function}({arguments}))\n"
    for name, given in itertools.product(
        (*(f"cal_{one}" for one in MAPS), "classes_vector", "classes_one-vs-rest", "classes_top-label"),
        APPLIED,
    ):
        more = ", score='score'" if given in ("table", "pandas()", "polars()", "rows") else ""
        yield (
            "python apply",
            f"{PRELUDE}tried(lambda: calibcli.apply('{name}.json', {given}{more}))\ntried(lambda: calibcli.load('{name}.json').predict({given}))\n",
        )
    for name in ("cal_platt", "cal_by", "cal_venn-abers", "cal_auto", "classes_matrix", "classes_confidence"):
        for given in (
            "score, prior=0.1",
            "table, score='score', name='p'",
            "score, prior=2",
            "score, scale='logit'",
            "score, on_range='x'",
            "score, unseen='pooled', by=rows['country']",
            "table, score='score', name='score'",
            "score, nothing=1",
        ):
            yield "python apply", f"{PRELUDE}tried(lambda: calibcli.apply('{name}.json', {given}))\n"
        yield (
            "python load",
            f"{PRELUDE}one = calibcli.load('{name}.json')\ntried(lambda: one)\none.save('copy.json')\ntried(lambda: one.report)\ntried(lambda: calibcli.load('copy.json') == one)\ntried(lambda: one.save('copy.json'))\n",
        )
    for name in (
        "report",
        "report_by",
        "report_two",
        "report_classes",
        "report_rest",
        "summary",
        "gate",
        "compared",
        "verdict",
        "planned",
        "edited",
        "cut",
        "broken",
        "list",
        "object",
        "empty",
        "nothing",
        "rows.csv",
    ):
        yield (
            "python load",
            f"{PRELUDE}tried(lambda: calibcli.load('{name if '.' in name else name + '.json'}'))\ntried(lambda: calibcli.load('{name}.json', allow_edited=True))\n",
        )
        yield (
            "python load",
            f"{PRELUDE}tried(lambda: calibcli.plot(calibcli.load('{name}.json'), path='out.svg'))\n",
        )
    for word in (
        "ece.value",
        "ece.interval",
        "to_dict()",
        "to_frame()",
        "to_markdown()",
        "['ece']",
        "['nothing']",
        "nothing",
        "tests",
        "notes",
        "slices",
        "_repr_html_()",
        "__getstate__()",
        "to_json()",
    ):
        dot = "" if word.startswith("[") else "."
        for call in (
            "measure(score, label)",
            "measure(table, score='score', label='label', by='country')",
            "measure(matrix, named, classes=['cat', 'dog', 'emu'], view='one-vs-rest')",
            "verify(score, label, max_ece=0.2)",
            "compare({'a': score, 'b': old}, label)",
        ):
            yield "python results", f"{PRELUDE}one = calibcli.{call}\ntried(lambda: one{dot}{word})\n"
    yield "python names", "import calibcli\nprint(calibcli.__all__, dir(calibcli), calibcli.__doc__)\n"
    yield (
        "python names",
        "import calibcli, inspect\nfor one in calibcli.__all__:\n    what = getattr(calibcli, one)\n    print(one, inspect.signature(what) if callable(what) else type(what))\n    print(inspect.getdoc(what))\n",
    )
    yield "python names", "import calibcli\ncalibcli.nothing\n"


def _twice(arguments: str) -> bool:
    """Whether a keyword is given twice, which Python itself refuses."""
    try:
        compile(f"f({arguments})", "call", "eval")
    except SyntaxError:
        return True
    return False
