import { configure, sessions } from '@millrace/sdk';

// The chat is in the address: opening it again shows the same chat.
location.hash ||= crypto.randomUUID();
const chat = location.hash.slice(1);

const talk = document.querySelector('#talk');
const form = document.querySelector('#say');

/** One bubble a turn and speaker; what comes in parts grows in it. */
let bubble;
function show({ from, text }) {
  if (bubble?.className !== from) {
    bubble = document.createElement('p');
    bubble.className = from;
    talk.append(bubble);
  }
  bubble.textContent += text;
  bubble.scrollIntoView({ block: 'end' });
}

const response = await fetch('/chats', { method: 'POST', body: JSON.stringify({ chat }) });
const { session: name, token, baseURL } = await response.json();
configure({ baseURL, accessToken: token });
const session = sessions.open(name);

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const field = form.elements.namedItem('text');
  const text = field.value;
  field.value = '';
  await session.in.send({ text });
});
form.dataset.ready = 'true';

let lastEventId;
for (;;) {
  const parts = session.out.read({
    lastEventId,
    timeoutInSeconds: 600,
    onControl() {
      if (bubble) bubble.dataset.complete = 'true';
      bubble = undefined;
    },
    onEventId(seq) {
      lastEventId = seq;
    },
  });
  for await (const part of parts) show(part);
}
