/** The page that the long form leaves: its figures, and how they came about. */
import { IN_FLIGHT } from './workload.ts';
import type { Group } from './groups.ts';

export interface Circumstances {
  readonly seed: number;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly command: string;
  readonly machine: string;
  readonly tookMs: number;
  /** The part of the full counts that was done. */
  readonly share: number;
}

/** The text of `docs/reliability.md`. */
export function reportText(groups: readonly Group[], it: Circumstances): string {
  const broken = groups.flatMap(({ title, broken: words }) => words.map((one) => `${title}: ${one}`));
  return `# Reliability

Written by \`${it.command}\` on ${it.date}: seed ${it.seed}, ${Math.round(it.tookMs / 60_000)} minutes on ${it.machine}${
    it.share === 1 ? '' : `, ${it.share} of the full counts`
  }. Every figure was measured by that run; don't edit this page.

**${broken.length === 0 ? 'No promise was broken.' : `${broken.length} promises were broken; they are listed at the end.`}**

${groups.map(groupText).join('\n\n')}

## How it is judged

Each scenario has a warehouse and a service of its own. The service is the sandbox, which keeps what it was asked and the digest of
what it sent; triggers in the warehouse keep every change of the ledger and the leases. After each scenario these are merged, and it
must hold that

- nothing reached the service that was stored and fresh, and nothing that the ledger had not said to be sent;
- every stored answer is, to the byte, what the service sent for that request;
- every row names an answer that holds it, and of each answer received = loaded + unchanged + superseded + quarantined;
- no lease was taken over while its holder was alive, and fencing tokens rise one by one;
- requests go from state to state as the ledger allows and come to their end;
- every lost attempt is listed, and there are no more of them than calls in flight at the kills (${IN_FLIGHT} each) and answers spoiled on their way;
- the table of costs holds what the service logged;
- all analyst tables hold what they hold after an undisturbed run: a digest over the rows in key order, without the columns that name
  the run, the answer and the time. \`fact_request_costs\`, whose ids and times are the service's, is held against the service's record instead.

After a kill the dead holder's leases are declared expired by SQL, as an operator may, so that hundreds of kills fit into minutes;
where a dead holder is replaced, and beside a worker that lives, the true time is waited for.
${broken.length === 0 ? '' : `\n## Broken promises\n\n${broken.map((words) => `- ${words.replaceAll('\n', ' ').slice(0, 500)}`).join('\n')}\n`}`;
}

function groupText({ title, done, figures, broken }: Group): string {
  const rows = Object.entries({ ...figures, 'broken promises': broken.length });
  return `## ${title}\n\n${done}\n\n| figure | value |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}`;
}
