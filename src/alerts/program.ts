/** Runs the program of the config for an alert, which it reads on its standard input. */
import { spawn } from 'node:child_process';
import type { Delivery, DeliveryEffects } from './delivery.ts';
import type { AlertPayload } from './payload.ts';

/** A run does not wait for longer. */
const WITHIN_MS = 10_000;

/**
 * A way to tell the program. It runs without a shell, in a group of its own that ends with it; of the environment it
 * gets what holds no secret of ours.
 */
export const openProgram =
  ([program = '', ...words]: readonly string[], { sleep, env, redact }: DeliveryEffects) =>
  async (payload: AlertPayload): Promise<Delivery> => {
    const ended = new AbortController();
    const child = spawn(program, words, {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: withoutSecrets(env, redact),
    });
    const ends = new Promise<Delivery>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        resolve({ ok: false, because: `the command can’t be run (${error.code ?? 'unknown trouble'})` }),
      );
      child.once('exit', (code, signal) =>
        resolve(
          code === 0 ? { ok: true } : { ok: false, because: `the command ended with ${signal ?? `exit code ${code}`}` },
        ),
      );
    });
    const overdue = sleep(WITHIN_MS, ended.signal).then(
      (): Delivery => ({ ok: false, because: `the command did not end within ${WITHIN_MS / 1000} s` }),
      (): Delivery => ({ ok: false, because: 'the command was not waited for' }),
    );
    // Who reads nothing of it may still succeed.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(payload)}\n`);
    try {
      return await Promise.race([ends, overdue]);
    } finally {
      ended.abort();
      endGroup(child.pid);
    }
  };

function withoutSecrets(env: DeliveryEffects['env'], redact: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || redact(value) !== value ? [] : [[name, value]],
    ),
  );
}

/** What it started ends too; a child that goes on would hold what it was given. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}
