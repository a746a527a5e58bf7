//! Dense ids: small integers handed out in order of first appearance, one type per kind of thing.

/// What all ids share: they are indexes.
pub trait Id: Copy + Eq + Ord {
    /// The id with this index.
    fn from_index(index: usize) -> Self;
    /// The index of this id.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        pub struct $name(pub u32);

        impl Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("ids are 32 bits"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A thread.
    ThreadId;
    /// A memory location: anything that is read and written, atomic or not.
    VarId;
    /// A lock, exclusive or shared.
    LockId;
    /// A condition that threads wait on.
    CondId;
    /// What `post` releases and `await` acquires: a barrier, latch, once, pipe or future.
    LatchId;
    /// A counting semaphore.
    SemId;
    /// The name of an atomic block or region; id 0 is the nameless block.
    BlockId;
    /// The name of an internal event.
    LabelId;
    /// A site of the program's code; id 0 is the unknown site.
    SiteId;
    /// The text of a string value.
    StrId;
    /// A call stack in [`Stacks`](crate::Stacks); id 0 is the empty stack.
    StackId;
}
