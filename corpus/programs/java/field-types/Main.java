/** A sample with fields of every type; all of them are kept under its monitor, but for the ratio. */
class Sample {
    private boolean valid;
    private byte quality;
    private char unit;
    private short channel;
    private int count;
    private long time;
    private float low;
    private double ratio;
    private String label;
    private int[] values = new int[2];

    void setRatio(double to) {
        ratio = to;
    }

    synchronized void take(int channel, String label) {
        this.valid = true;
        this.quality = (byte) (quality + 1);
        this.unit = 'V';
        this.channel = (short) channel;
        this.count++;
        this.time += 10L;
        this.low = Math.min(low, channel);
        this.label = label;
        this.values = new int[] {values[0] + 1, channel};
    }

    synchronized String summary() {
        return valid + " " + quality + unit + " " + (channel > 0) + " " + count + " " + time + " " + low
            + " " + label.length()
                + " " + values[0] + " " + (ratio > 0);
    }
}

class Probe extends Thread {
    private final Sample sample;
    private final int channel;

    Probe(Sample sample, int channel) {
        this.sample = sample;
        this.channel = channel;
    }

    @Override
    public void run() {
        sample.setRatio(channel / 8.0);
        sample.take(channel, "probe " + channel);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Sample sample = new Sample();
        Probe one = new Probe(sample, 1);
        Probe two = new Probe(sample, 2);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(sample.summary());
    }
}
