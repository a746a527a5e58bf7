package bank;

/** Serves one counter until the last request. */
final class Teller extends Thread {
    private final Bank bank;
    private final Counter counter;
    private int served;

    Teller(String name, Bank bank, Counter counter) {
        super(name);
        this.bank = bank;
        this.counter = counter;
    }

    @Override
    public void run() {
        try {
            Request request = counter.next();
            while (request.kind != Request.Kind.END) {
                serve(request);
                request = counter.next();
            }
        } catch (InterruptedException e) {
            interrupt();
        }
    }

    private void serve(Request request) {
        boolean done = false;
        switch (request.kind) {
            case TRANSFER:
                done = bank.transfer(bank.account(request.from), bank.account(request.to), request.cents);
                break;
            case PAY:
                done = bank.pay(bank.account(request.to), request.cents);
                break;
            case TAKE:
                done = bank.take(bank.account(request.from), request.cents);
                break;
            default:
                throw new IllegalStateException("what is " + request.kind);
        }
        served++;
        if (done) {
            bank.journal().done(getName(), request);
        } else {
            bank.journal().refuse(getName(), request);
        }
    }

    int served() {
        return served;
    }
}
