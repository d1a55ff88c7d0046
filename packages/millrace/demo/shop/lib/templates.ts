const templates = {
  'order-confirmed': 'Dear {name}, we have received your order {orderId}.',
  'order-shipped': 'Dear {name}, your parcel {parcel} is on its way.',
  'payment-declined': 'Dear {name}, your bank has declined the payment for {orderId}.',
  'refund-done': 'Dear {name}, we have sent you {amount}.',
  welcome: 'Welcome, {name}. Here is something to begin with: {voucher}.',
  newsletter: 'New this week: {title}.',
};
export const templateNames = Object.keys(templates) as [keyof typeof templates];

/** Fills in a template. */
export function render(template: keyof typeof templates, values: Readonly<Record<string, unknown>>): string {
  return templates[template].replace(/\{(\w+)\}/g, (_, name: string) => {
    if (values[name] === undefined) throw new ReferenceError(`The template ${template} needs ${name}`);
    return String(values[name]);
  });
}
