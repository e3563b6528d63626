/** Digests for the content security policies of pages. */
import { hash } from 'node:crypto';

/** The digest of a style sheet or script, as a policy contains it. */
export const policyDigest = (text: string): string => `sha256-${hash('sha256', text, 'base64')}`;
