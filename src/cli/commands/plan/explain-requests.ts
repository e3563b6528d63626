/** `sluice plan --explain`: why each request would be sent or not. */
import type { Config } from '../../../config/definition.ts';
import { type ExplainedRequest, explainPlan } from '../../../flow/forecast/explain-plan.ts';
import type { PlanOptions } from '../../../flow/prepare/plan-hash.ts';
import { checkQueries } from '../../../flow/queries/check-queries.ts';
import { selectSyncs } from '../../../plan/order.ts';
import { filtersText } from '../../../text/filters.ts';
import { ensureSchema } from '../../../warehouse/migrate/migrate.ts';
import type { Context } from '../../context.ts';
import { withWarehouseToPlan } from '../../open.ts';
import type { Channel } from '../../terminal/channel.ts';
import { column, duration, tableOf, withNoun } from '../../terminal/print.ts';
import { show } from '../../terminal/show.ts';

/** Limits of requests of each sync: for one screen, and for a program. */
const MOST_PRINTED = 50;
const MOST_IN_JSON = 10_000;

/** Prints the requests that new runs would plan, each with its reason; returns the exit code. */
export async function explainRequests(
  context: Context,
  config: Config,
  names: readonly string[],
  options: PlanOptions,
): Promise<number> {
  const most = context.json ? MOST_IN_JSON : MOST_PRINTED;
  const explained = await withWarehouseToPlan(context, config, async (warehouse) => {
    await ensureSchema(warehouse);
    const definitions = selectSyncs(config.syncs, names);
    await checkQueries(warehouse, definitions);
    const now = warehouse.clock.now();
    const requests: ExplainedRequest[] = [];
    let more = 0;
    for (const definition of definitions) {
      const sync = await explainPlan(warehouse, definition, options, { now, most });
      requests.push(...sync.requests);
      more += sync.more;
    }
    return { requests, more };
  });
  show(context, 'plan-explain/1', explained, () => explainedText(explained, context.out));
  return 0;
}

function explainedText(
  { requests, more }: { readonly requests: readonly ExplainedRequest[]; readonly more: number },
  channel: Channel,
): string {
  const table = tableOf(requests, channel, [
    column('sync', (it) => it.sync),
    column('request', (it) => filtersText(it.request)),
    column('decision', (it) => it.decision.replace('_', ' ')),
    column('max_age', (it) => (it.maxAgeMs === null ? 'none' : duration(it.maxAgeMs))),
    column('because', becauseText),
  ]);
  const rest = more > 0 ? `and ${withNoun(more, 'request')} more; --json has up to ${MOST_IN_JSON} of each sync\n` : '';
  return `${table}${rest}${requests.length === 0 ? 'The plan has no requests.\n' : ''}`;
}

function becauseText({ decision, maxAgeMs, answeredAt, learnedFrom }: ExplainedRequest): string {
  const learned = learnedFrom
    ? `; the age is learned from ${withNoun(learnedFrom.answers, 'answer')} with ${withNoun(learnedFrom.changes, 'change')}`
    : '';
  switch (decision) {
    case 'failing':
      return 'its last answers were unreadable; --refresh sends it again';
    case 'given_up':
      return 'three runs got no answer; --refresh sends it again';
    case 'fresh':
      return answeredAt === null ? 'the answers to its parts serve' : `answered at ${answeredAt}${learned}`;
    case 'send':
      return maxAgeMs === null ? 'no max_age' : `no answer of this age${learned}`;
  }
}
