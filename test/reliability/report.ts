/** The page that the long form writes: its figures, and how they were measured. */
import { IN_FLIGHT } from './workload.ts';
import type { Group } from './groups.ts';

export interface Circumstances {
  readonly seed: number;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly command: string;
  readonly machine: string;
  readonly tookMs: number;
  /** The share of the full counts that was run. */
  readonly share: number;
}

/** The text of `docs/reliability.md`. */
export function reportText(groups: readonly Group[], it: Circumstances): string {
  const broken = groups.flatMap(({ title, broken: words }) => words.map((one) => `${title}: ${one}`));
  return `# Reliability

Written by \`${it.command}\` on ${it.date}: seed ${it.seed}, ${Math.round(it.tookMs / 60_000)} minutes on ${it.machine}${
    it.share === 1 ? '' : `, ${it.share} of the full counts`
  }. The run measured every figure; do not edit this page.

**${broken.length === 0 ? 'No promise was broken.' : `${broken.length} promises were broken; they are listed at the end.`}**

${groups.map(groupText).join('\n\n')}

## How results are checked

Each scenario has its own warehouse and service. The service is the sandbox, which records each request and the digest of its
answer. Triggers in the warehouse record every change of the ledger and the leases. After each scenario, these records are merged and
checked:

- No request reached the service that had a stored and fresh answer, or that the ledger had not recorded as sent.
- Every stored answer has exactly the bytes that the service sent for that request.
- Every row names an answer that contains it, and for each answer received = loaded + unchanged + superseded + quarantined.
- No lease was taken over while its holder was alive, and fencing tokens increase: each is a time, or one more than the token before.
- Requests change state only as the ledger allows, and all of them end.
- Every lost attempt is listed. There are no more of them than calls in flight at the kills (${IN_FLIGHT} each) and answers with a fault.
- The table of costs holds what the service logged.
- All analyst tables equal those of an undisturbed run. The comparison uses a digest over the rows in key order, without the columns
  for the run, the answer and the time. The ids and times of \`fact_request_costs\` are compared with the service's own record instead.

After a kill, SQL sets the leases of the dead holder to expired, as an operator may, so that hundreds of kills fit into minutes. Two
groups wait for the real expiry: the replacement of a dead holder, and kills of one of two workers.
${broken.length === 0 ? '' : `\n## Broken promises\n\n${broken.map((words) => `- ${words.replaceAll('\n', ' ').slice(0, 500)}`).join('\n')}\n`}`;
}

function groupText({ title, done, figures, broken }: Group): string {
  const rows = Object.entries({ ...figures, 'broken promises': broken.length });
  return `## ${title}\n\n${done}\n\n| figure | value |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}`;
}
