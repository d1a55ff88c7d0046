const mostTries = 20;

/** Acts, and again when it lost a deadlock: who loses one leaves nothing behind. For acts that take locks out of the order of others. */
export async function again<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      const isDeadlock = error instanceof Error && 'code' in error && error.code === '40P01';
      if (!isDeadlock || tries === mostTries) throw error;
    }
  }
}
