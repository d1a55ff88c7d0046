import { CohereClientV2 } from 'cohere-ai';

export default async () => typeof new CohereClientV2({ token: 'none' }).chat;
