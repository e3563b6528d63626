/** The machinery's tables about erasure: what is forgotten, by salted digests alone, and the receipts. */
import { bigint, bytea, boolean, identity, json, timestamp, nullable, table, text } from './column-types.ts';

/** In an order in which they can be created. */
export const erasureTables = {
  erasure_salts: table(
    'The salt of the digests of what is forgotten: one row, made at random with the first of them.',
    { id: bigint('Always 1.'), salt: bytea('The salt.') },
    { key: ['id'] },
  ),
  erasures: table(
    'A receipt for each erasure, without what was erased.',
    {
      id: identity('The receipt.'),
      table_name: text('The table whose row was erased.'),
      digest: text('Salted digest of table and key.'),
      erased_at: timestamp('When it was erased.'),
      row_counts: json<Readonly<Record<string, number>>>('Rows deleted or changed, by table.'),
      answers: bigint('Stored answers that it was taken out of.'),
      bodies: bigint('Of these, those whose body was erased whole, because it could not be read.'),
      requests: bigint('Requests of the ledger that asked for it, and hold a pseudonym in its place.'),
      spooled: nullable(bigint('Answers on the disk that it was taken out of; null until that was done.')),
      comes_again: boolean('Whether later answers may bring it again.'),
    },
    { key: ['id'], indexes: [{ columns: ['digest'] }] },
  ),
  forgotten: table(
    'What later answers must not bring again: salted digests of keys and names.',
    {
      digest: text('Salted digest of a key, or of a name.'),
      erasure_id: bigint('The erasure that it belongs to.'),
    },
    {
      key: ['digest', 'erasure_id'],
      indexes: [{ columns: ['erasure_id'] }],
      foreignKeys: [{ columns: ['erasure_id'], table: 'erasures', references: ['id'], onDelete: 'cascade' }],
    },
  ),
};
