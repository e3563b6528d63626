/** Delivers an alert to the program of the config, which reads it on its standard input. */
import { spawn } from 'node:child_process';
import { withTimeout } from '../async/with-timeout.ts';
import { type Delivery, type DeliveryEffects, DELIVERY_LIMIT_MS, failed } from './delivery.ts';
import type { AlertPayload } from './payload.ts';

/**
 * A function that delivers an alert to the program. The program runs without a shell, in a process group that ends with
 * it. It gets the environment without the variables that contain a secret of the config.
 */
export const openProgram =
  ([program = '', ...words]: readonly string[], { sleep, env, redact }: DeliveryEffects) =>
  async (payload: AlertPayload): Promise<Delivery> => {
    const child = spawn(program, words, {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: withoutSecrets(env, redact),
    });
    const ends = new Promise<Delivery>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        resolve(failed(`the command can’t be run (${error.code ?? 'unknown error'})`)),
      );
      child.once('exit', (code, signal) =>
        resolve(code === 0 ? { ok: true } : failed(`the command ended with ${signal ?? `exit code ${code}`}`)),
      );
    });
    // A program that does not read its input may still succeed.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(payload)}\n`);
    try {
      const delivery = await withTimeout(ends, DELIVERY_LIMIT_MS, sleep);
      return delivery ?? failed(`the command did not end within ${DELIVERY_LIMIT_MS / 1000} s`, true);
    } finally {
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

/** Ends the program's own children too: a child that continues would keep the inherited resources. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
}
