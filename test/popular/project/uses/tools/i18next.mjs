import i18next from 'i18next';

export default async () => {
  const i18n = i18next.createInstance();
  await i18n.init({ lng: 'de', resources: { de: { translation: { hi: 'Hallo' } } } });
  return i18n.t('hi');
};
