import nlp from 'compromise';

export default async () => nlp('She walks').verbs().toPastTense().text();
