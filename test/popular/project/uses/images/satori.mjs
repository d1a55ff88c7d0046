import satori from 'satori';

export default async () => {
  const element = { type: 'div', props: { style: { width: 10, height: 10, background: 'red' } } };
  return (await satori(element, { width: 10, height: 10, fonts: [] })).slice(0, 4);
};
