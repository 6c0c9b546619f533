"""A JupyterHub for this course, on one machine where every student has an account.

    sudo jupyterhub -f autograder/jupyterhub_config.py

What else the machine needs, and what to change for another one: "On a JupyterHub" in
book/grading.md. The test that walks through a hub (tests/doors/test_hub.py) starts this file.
"""

from pathlib import Path

c = get_config()  # noqa: F821
course = Path(__file__).resolve().parents[1]
instructor = course.owner()  # the account whose course it is, and who grades

# This machine only: a web server in front has the certificate and passes on WebSockets too.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
# Passwords of the machine. For a university's login, Canvas or Moodle: the packages
# oauthenticator and ltiauthenticator.
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True  # everyone with an account; or allowed_users = {"ada", "ben"}

c.Spawner.default_url = "/lab"  # JupyterLab, which has nbgrader's menu
c.Spawner.start_timeout = 300  # servers start slowly when a whole class comes at nine o'clock
c.Spawner.http_timeout = 300  # the same, for a server's first answer
c.Spawner.environment = {"OMP_NUM_THREADS": "2"}  # or each torch takes all cores


def own_course(spawner):
    """Let the instructor's JupyterLab see the course, with nbgrader's settings and formgrader."""
    if spawner.user.name == instructor:
        spawner.notebook_dir = str(course)
        spawner.environment = {
            **spawner.environment,
            "JUPYTER_CONFIG_PATH": str(course / "autograder"),
        }


c.Spawner.pre_spawn_hook = own_course  # for the account that owns this folder, the instructor
