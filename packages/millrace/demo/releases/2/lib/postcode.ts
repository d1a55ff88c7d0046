/** A postcode as the carrier wants it. The carrier checks it. */
export const carrierPostcode = (_country: string, postcode: string): string =>
  postcode.trim().replaceAll(' ', '');
