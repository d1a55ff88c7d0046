import { Telegraf } from 'telegraf';

export default async () => typeof new Telegraf('none').telegram.sendMessage;
