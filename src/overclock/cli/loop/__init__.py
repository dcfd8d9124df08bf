"""Commands of the closed loop: new, translate, resume, submit, status, watch, report, update, export, and studies."""
