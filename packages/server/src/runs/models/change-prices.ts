import { maxModelPrices, type Body, type ModelPrice, type Operations, type Reply } from '@millrace/contract';
import { recordAct, type Actor } from '../../audit/record.ts';
import { lockProject } from '../../auth/lock-project.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import { notFound, unprocessable } from '../../problem.ts';
import { defaultPrices, defaultPricesDate } from './default-prices.ts';
import { microsOf, responseOf, type PriceRow } from './prices.ts';

interface Changing {
  readonly projectRef: string;
  readonly by: Actor;
}

const columns = (sql: Queryable) =>
  sql`p.model, p.input, p.cached_input, p.cache_write, p.output, p.updated_at`;

/** The prices of a project, and the default prices, which apply to models that they do not match. */
export async function listPrices(
  sql: Queryable,
  projectRef: string,
): Promise<Reply<Operations['listModelPrices']>> {
  const rows = await sql<PriceRow[]>`
    select ${columns(sql)} from model_prices p join projects j on j.id = p.project_id where j.ref = ${projectRef} order by p.model`;
  const own = rows.map(responseOf);
  const defaults = defaultPrices.map((price) => ({ ...price, isDefault: true, updatedAt: null }));
  return { data: [...own, ...defaults], defaultsFrom: defaultPricesDate };
}

/** Sets a price. Calls that have arrived keep their cost. */
export const setPrice = (
  sql: Sql,
  { projectRef, now, by }: Changing & { readonly now: Date },
  body: Body<Operations['setModelPrice']>,
): Promise<ModelPrice> =>
  sql.begin(async (tx) => {
    const project = await lockProject(tx, projectRef);
    if (project === undefined) throw notFound();
    const { model, input, output } = body;
    const [old] = await tx<PriceRow[]>`
      select ${columns(tx)} from model_prices p where p.project_id = ${project} and p.model = ${model}`;
    if (!old) {
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from model_prices where project_id = ${project}`;
      if ((row?.count ?? 0) >= maxModelPrices) {
        throw unprocessable(
          `A project has at most ${maxModelPrices} prices; delete an unused one, or use a name that ends with *.`,
          'limit_reached',
        );
      }
    }
    const amount = (text: string | null) => (text === null ? null : microsOf(text).toString());
    const [changed] = await tx<PriceRow[]>`
      insert into model_prices as p (project_id, model, input, cached_input, cache_write, output, updated_at)
      values (${project}, ${model}, ${amount(input)}, ${amount(body.cachedInput)}, ${amount(body.cacheWrite)}, ${amount(output)}, ${now})
      on conflict (project_id, model) do update
         set input = excluded.input, cached_input = excluded.cached_input, cache_write = excluded.cache_write, output = excluded.output,
             updated_at = excluded.updated_at
      returning ${columns(tx)}`;
    const price = responseOf(changed as PriceRow);
    await recordAct(tx, by, {
      act: 'modelPrice.set',
      target: model,
      in: { projectRef },
      old: old && amountsOf(responseOf(old)),
      new: amountsOf(price),
    });
    return price;
  });

export const deletePrice = (sql: Sql, { projectRef, by }: Changing, model: string): Promise<void> =>
  sql.begin(async (tx) => {
    const project = await lockProject(tx, projectRef);
    if (project === undefined) throw notFound();
    const [old] = await tx<PriceRow[]>`
      delete from model_prices p where p.project_id = ${project} and p.model = ${model} returning ${columns(tx)}`;
    if (!old) throw notFound(`The project has no price for ${model}.`);
    await recordAct(tx, by, {
      act: 'modelPrice.deleted',
      target: model,
      in: { projectRef },
      old: amountsOf(responseOf(old)),
    });
  });

const amountsOf = ({ input, cachedInput, cacheWrite, output }: ModelPrice) => ({
  input,
  cachedInput,
  cacheWrite,
  output,
});
