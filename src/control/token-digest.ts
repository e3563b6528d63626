/** The name of a service's token in the warehouse: for its limiter, and for its balance. */
import type { ServiceSettings } from '../config/definition.ts';
import { digestOf } from '../service/canonical-json.ts';

/** Returns a text that differs by service and token, and does not reveal the token. */
export const tokenDigest = ({ url, token }: Pick<ServiceSettings, 'url' | 'token'>): string =>
  digestOf(`${URL.parse(url)?.href ?? url}\n${token?.reveal() ?? ''}`).slice(0, 32);
