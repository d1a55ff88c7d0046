/** A quantity in the ERP's format. */
export function quantityOf(text: string): number {
  const quantity = Number(text);
  if (Number.isNaN(quantity)) throw new RangeError(`The ERP sent a quantity that is not a number: "${text}"`);
  return quantity;
}
