import { GoogleGenerativeAI } from '@google/generative-ai';

export default async () => new GoogleGenerativeAI('none').getGenerativeModel({ model: 'gemini-pro' }).model;
