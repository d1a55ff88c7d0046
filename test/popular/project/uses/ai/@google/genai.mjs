import { GoogleGenAI } from '@google/genai';

export default async () => typeof new GoogleGenAI({ apiKey: 'none' }).models.generateContent;
