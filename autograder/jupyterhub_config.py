"""A JupyterHub for this course, on one machine where every student has an account.

    sudo jupyterhub -f autograder/jupyterhub_config.py

What else the machine needs, and what to change for another one: "On a JupyterHub" in
book/grading.md. The test that walks through a hub (tests/doors/test_hub.py) starts this file.
"""

from pathlib import Path

c = get_config()  # noqa: F821
course = Path(__file__).resolve().parents[1]
instructor = course.owner()  # the account whose course it is, and who grades

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # the web server before it has the certificate
c.JupyterHub.authenticator_class = "pam"  # passwords of the machine
c.Authenticator.allow_all = True  # whoever has an account; or allowed_users = {"ada", "ben"}

c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = 300  # a class comes at nine o'clock, and each server starts slowly then
c.Spawner.http_timeout = 300
c.Spawner.environment = {"OMP_NUM_THREADS": "2"}  # or each torch takes all cores


def own_course(spawner):
    """Let the instructor's JupyterLab see the course, with nbgrader's settings and formgrader."""
    if spawner.user.name == instructor:
        spawner.notebook_dir = str(course)
        spawner.environment = {
            **spawner.environment,
            "JUPYTER_CONFIG_PATH": str(course / "autograder"),
        }


c.Spawner.pre_spawn_hook = own_course
