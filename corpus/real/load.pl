# Several connections to memcached at once, each with a process of its own: load.pl PORT CONNECTIONS COMMANDS
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $connections, $commands) = @ARGV;
sub connected {
    for (1 .. 200) {
        my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
        return $socket if $socket;
        select undef, undef, undef, 0.05;
    }
    die "nobody listens on port $port\n";
}
sub expect {
    my ($socket, $command, $pattern) = @_;
    print $socket $command;
    my $line = <$socket> // '';
    $line =~ $pattern or die "$command: $line";
    return $line;
}
connected();
my @children;
for my $number (1 .. $connections) {
    my $child = fork // die "fork: $!";
    if ($child) { push @children, $child; next }
    my $socket = connected();
    srand $number;
    for (1 .. $commands) {
        my ($key, $value, $what) = ('k' . int rand 50, 'v' x (1 + int rand 200), int rand 5);
        my $size = length $value;
        if ($what < 2) { expect($socket, "set $key 0 0 $size\r\n$value\r\n", qr/^STORED/) }
        elsif ($what == 2) {
            my $line = expect($socket, "get $key\r\n", qr/^(VALUE|END)/);
            if ($line =~ /^VALUE/) { <$socket> =~ /^v+\r/ or die "value of $key"; <$socket> =~ /^END/ or die "end of $key" }
        }
        elsif ($what == 3) { expect($socket, "set n 0 0 1\r\n0\r\n", qr/^STORED/); expect($socket, "incr n 1\r\n", qr/^\d+/) }
        else { expect($socket, "delete $key\r\n", qr/^(DELETED|NOT_FOUND)/) }
    }
    print $socket "stats\r\n";
    while (<$socket>) { last if /^END/ }
    exit 0;
}
my $bad = 0;
for (@children) { waitpid $_, 0; $bad ||= $? }
exit($bad ? 1 : 0);
