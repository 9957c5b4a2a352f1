import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** Runs the tasks of an array one after the other, each by the script as it is, in the folder and with the log that it asks for. */
const SBATCH = `#!/bin/sh
here=$(dirname "$0")
script=$2
id=$$
directive() { sed -n "s/^#SBATCH --$1=//p" "$script" | sed 's/^"\\(.*\\)"$/\\1/'; }
last=$(directive array | sed 's/^0-\\([0-9]*\\).*/\\1/')
folder=$(directive chdir)
log=$(directive output)
touch "$here/job-$id"
(
  task=0
  while [ "$task" -le "$last" ]; do
    out=$(printf '%s' "$log" | sed "s/%A/$id/; s/%a/$task/; s/%%/%/g")
    (cd "$folder" && SLURM_ARRAY_TASK_ID=$task sh "$script") >"$out" 2>&1
    task=$((task + 1))
  done
  rm "$here/job-$id"
) >/dev/null 2>&1 &
echo "$id"
`;

const SQUEUE = `#!/bin/sh
if [ -e "$(dirname "$0")/job-$4" ]; then echo "$4_0"; else echo 'Invalid job id specified' >&2; exit 1; fi
`;

/**
 * `sbatch` and `squeue` on PATH for the tests of a block, where no cluster can be started: they run the script of an array for real, without a scheduler.
 *
 * @param prepare what the block needs before
 */
export function useTaskShell(prepare: () => void = () => {}): void {
  let folder: string;
  const { PATH } = process.env;
  beforeAll(() => {
    prepare();
    folder = mkdtempSync(join(tmpdir(), 'ragpp-task-shell-'));
    for (const [name, script] of Object.entries({ sbatch: SBATCH, squeue: SQUEUE })) {
      writeFileSync(join(folder, name), script);
      chmodSync(join(folder, name), 0o755);
    }
    process.env.PATH = `${folder}:${PATH}`;
  });
  afterAll(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });
}
