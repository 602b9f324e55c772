@rem Lets the scripts of package.json begin with "exec" on Windows too; scripts/run.mjs says why they do.
@%*
