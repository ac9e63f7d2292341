"""A gate before a release, as labels come in: inconclusive skips what comes after, a fail stops it.

The folder, which every worker mounts, holds the map in use (cal.json, from the DAG that fits) and a state for
each map; a run that is cleared and repeated counts no day twice.
"""

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

FOLDER = "/data/model"

with DAG(dag_id="release_model", schedule="@daily", max_active_runs=1):
    labels_of_the_day = BashOperator(
        task_id="labels_of_the_day",
        bash_command="./export_labels.sh {{ ds }} > labelled-{{ ds }}.csv",  # yours
        cwd=FOLDER,
        retries=3,
    )
    calibration_gate = BashOperator(
        task_id="calibration_gate",
        bash_command=(
            "calibcli verify labelled-{{ ds }}.csv -s score -y label --artifact cal.json --max-ece 0.15"
            ' --state "gate-$(sha256sum cal.json | cut -c 1-16).json" --batch {{ ds }}'
            " --report openmetrics=calibration.txt --report junit=calibration-{{ ds }}.xml --force"
        ),
        cwd=FOLDER,
        append_env=True,
        skip_on_exit_code=4,
        retries=0,  # the same rows give the same verdict; cleared and run again, a day is not counted twice
    )
    release = BashOperator(task_id="release", bash_command="./release.sh", cwd=FOLDER)
    labels_of_the_day >> calibration_gate >> release
