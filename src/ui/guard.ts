/** Refuses requests that another website made through the user’s browser, before anything is read for them. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Why a request is not answered. */
export interface RequestRefusal {
  readonly status: 400 | 403 | 404 | 405 | 413 | 415;
  readonly message: string;
  readonly next: string;
}

/** Names of this machine. A website can point its own name at this machine, but it cannot use one of these. */
const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** The refusal of a request; undefined if it may be answered. */
export function refusalOf({ method = '', headers }: IncomingMessage): RequestRefusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': target } = headers;
  if (!OWN_HOST.test(host))
    return {
      status: 403,
      message: 'The Host header does not name this machine.',
      next: 'Open the address that sluice ui printed. Through an SSH tunnel, open localhost.',
    };
  if (!['GET', 'HEAD', 'POST'].includes(method))
    return { status: 405, message: 'Only GET, HEAD and POST are answered.', next: 'Use the links of the console.' };
  // A link on another site may lead here, but that site may not embed a page or load it by itself.
  const isFollowedLink = mode === 'navigate' && target === 'document';
  const isFromOtherSite = site === 'cross-site' || site === 'same-site';
  // With the policy no-referrer, browsers send the origin "null" with the console's own forms.
  const isOwnForm = site === 'same-origin' || (site === undefined && origin === `http://${host}`);
  const isAllowed = method === 'POST' ? isOwnForm : !isFromOtherSite || isFollowedLink;
  if (!isAllowed)
    return {
      status: 403,
      message: 'The request comes from another website, or from a program that does not name its origin.',
      next: 'Send the form of the SQL page; for programs, use sluice query.',
    };
  return undefined;
}

/** The most bytes of a form. */
const MOST_FORM_BYTES = 2 ** 18;

/** The fields of the form in a request, which must contain the token of this process; otherwise the refusal. */
export async function readForm(request: IncomingMessage, token: string): Promise<URLSearchParams | RequestRefusal> {
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    return { status: 415, message: 'The request is not a form.', next: 'Send the form of the SQL page.' };
  const parts: Buffer[] = [];
  let size = 0;
  // The connection must stay open for the refusal.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MOST_FORM_BYTES)
      return {
        status: 413,
        message: `The form is longer than ${MOST_FORM_BYTES / 1024} KiB.`,
        next: 'Shorten the statement, or run it with sluice query - < FILE.',
      };
    parts.push(part);
  }
  const form = new URLSearchParams(Buffer.concat(parts).toString('utf8'));
  const [given, expected] = [Buffer.from(form.get('token') ?? ''), Buffer.from(token)];
  if (given.length === expected.length && timingSafeEqual(given, expected)) return form;
  return {
    status: 403,
    message: 'The form belongs to an earlier start of the console.',
    next: 'Open the SQL page again, and send its form.',
  };
}
