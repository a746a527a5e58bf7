import java.util.ArrayList;
import java.util.List;

/** A piece of work with a name and a priority. What depends on what is settled before the first worker starts. */
final class Job implements Comparable<Job> {
    private final String name;
    private final int priority;
    private final Work work;
    private final List<Job> successors = new ArrayList<>();
    private int missing; // predecessors that have not ended, under the plan's monitor

    Job(String name, int priority, Work work) {
        this.name = name;
        this.priority = priority;
        this.work = work;
    }

    Job after(Job predecessor) {
        predecessor.successors.add(this);
        missing++;
        return this;
    }

    String name() {
        return name;
    }

    int run() throws Work.WorkFailed {
        return work.perform();
    }

    List<Job> successors() {
        return successors;
    }

    boolean ready() {
        return missing == 0;
    }

    boolean predecessorEnded() {
        missing--;
        return missing == 0;
    }

    @Override
    public int compareTo(Job other) {
        return priority != other.priority ? Integer.compare(other.priority, priority) : name.compareTo(other.name);
    }
}
