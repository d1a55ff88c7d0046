/** A quantity in the ERP's format: `12`, or `12,0` for items sold by weight. */
export function quantityOf(text: string): number {
  const quantity = Number(text.replace(',', '.'));
  if (Number.isNaN(quantity)) throw new RangeError(`The ERP sent a quantity that is not a number: "${text}"`);
  return quantity;
}
