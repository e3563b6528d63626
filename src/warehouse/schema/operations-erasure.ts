/** The operations tables of erasure and masking: salted digests of forgotten keys and names, receipts, the masking key. */
import { bigint, bytea, boolean, identity, json, timestamp, nullable, table, text } from './column-types.ts';

/** The tables in the order of creation. */
export const erasureTables = {
  erasure_salts: table(
    'Random salt of the digests of forgotten keys and names: one row, created with the first erasure.',
    { id: bigint('Always 1.'), salt: bytea('Salt of the digests.') },
    { key: ['id'] },
  ),
  masking_keys: table(
    'Key of the hashes in the masked views: one row, written by sluice grants --without-personal.',
    { id: bigint('Always 1.'), key: bytea('Digest of the masking key.') },
    { key: ['id'] },
  ),
  erasures: table(
    'Receipts of erasures, without the erased data: one row per erasure.',
    {
      id: identity('Id of the receipt.'),
      table_name: text('Table of the erased row.'),
      digest: text('Salted digest of table and key.'),
      erased_at: timestamp('Time of the erasure.'),
      row_counts: json<Readonly<Record<string, number>>>('Numbers of deleted or changed rows, by table.'),
      answers: bigint('Number of stored answers from which the entity was removed.'),
      bodies: bigint('Number of these answers whose complete body was erased, because it could not be read.'),
      requests: bigint('Number of ledger requests for the entity, which now contain a pseudonym instead.'),
      spooled: nullable(
        bigint('Number of spooled answers from which the entity was removed; null until that is done.'),
      ),
      comes_again: boolean('Whether later answers may load the entity again.'),
    },
    { key: ['id'], indexes: [{ columns: ['digest'] }] },
  ),
  forgotten: table(
    'Entities that later answers must not load again, as salted digests: one row per key or name.',
    {
      digest: text('Salted digest of a key or a name.'),
      erasure_id: bigint('Erasure to which the digest belongs.'),
    },
    {
      key: ['digest', 'erasure_id'],
      indexes: [{ columns: ['erasure_id'] }],
      foreignKeys: [{ columns: ['erasure_id'], table: 'erasures', references: ['id'], onDelete: 'cascade' }],
    },
  ),
};
