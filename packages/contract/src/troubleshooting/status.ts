/** The section for a status, if the message is not more specific. */
export function anchorOfStatus(status: number) {
  switch (status) {
    case 401:
      return 'the-key-is-not-known';
    case 403:
      return 'the-key-may-not-do-this';
    case 404:
    case 405:
    // Features that this server does not have.
    case 501:
      return 'not-found';
    case 409:
    case 412:
      return 'the-state-does-not-allow-it';
    case 408:
    case 415:
      return 'the-request-cannot-be-read';
    case 413:
      return 'the-body-is-too-large';
    case 429:
      return 'too-many-requests';
    case 502:
    case 503:
    case 504:
      return 'the-server-cannot-answer-now';
    default:
      return status >= 500 ? 'internal-server-error' : 'a-value-is-not-accepted';
  }
}
