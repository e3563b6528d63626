/** What sending needs to know about one request: its highest cost, the answers that serve it, and what was lost before. */
import { freshWithin } from '../../control/freshness/freshness.ts';
import type { LedgerRequest } from '../../ledger/requests/planned.ts';
import { maxPointsOf } from '../../plan/pricing/price-book.ts';
import { countOf } from '../../service/endpoint.ts';
import type { LostByRequest } from '../prepare/lost-by-request.ts';
import type { SendContext } from '../request/send-context.ts';
import type { RunContext } from './run-context.ts';

type RequestContext = Pick<SendContext, 'most' | 'freshWithin' | 'lostInvocations' | 'findCost'>;

/** The part of a `SendContext` that differs between requests. */
export function requestContext(
  context: RunContext,
  request: LedgerRequest,
  lostBefore: LostByRequest,
  signal: AbortSignal,
): RequestContext {
  const most = (): number => {
    const points = maxPointsOf(context.prices(), countOf(request.request));
    return context.meter?.most(points) ?? points;
  };
  return {
    most,
    freshWithin: () => {
      const range = freshWithin(context, request);
      return range && { ...range, requestKey: request.requestKey, sync: context.definition.name };
    },
    lostInvocations: lostBefore.get(request.requestKey)?.invocations ?? 0,
    findCost: async () => {
      const found = await context.resolveLost?.(new Map([[request.id, most()]]), signal);
      return found?.toSorted((a, b) => b.attempt - a.attempt)[0]?.points ?? undefined;
    },
  };
}
