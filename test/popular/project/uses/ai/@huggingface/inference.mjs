import { InferenceClient } from '@huggingface/inference';

export default async () => typeof new InferenceClient('none').chatCompletion;
