/** A postcode in the carrier's format. The carrier validates it. */
export const carrierPostcode = (_country: string, postcode: string): string =>
  postcode.trim().replaceAll(' ', '');
