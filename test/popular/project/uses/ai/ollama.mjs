import { Ollama } from 'ollama';

export default async () => typeof new Ollama({ host: 'http://127.0.0.1:1' }).chat;
