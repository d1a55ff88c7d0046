const patterns: Readonly<Record<string, RegExp>> = {
  DE: /^\d{5}$/,
  FR: /^\d{5}$/,
  GB: /^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$/,
  NO: /^\d{4}$/,
  JP: /^\d{3}-\d{4}$/,
  US: /^\d{5}(-\d{4})?$/,
  AU: /^\d{4}$/,
};

/** A postcode in the carrier's format. */
export function carrierPostcode(country: string, postcode: string): string {
  const tidy = postcode.trim();
  if (patterns[country]?.test(tidy) === false)
    throw new Error(`The postcode is not valid in ${country}: the carrier would refuse the label`);
  return tidy.replaceAll(' ', '');
}
