import mjml2html from 'mjml';

export default async () => {
  const { html } = await mjml2html('<mjml><mj-body><mj-text>Hello</mj-text></mj-body></mjml>');
  return html.includes('Hello');
};
