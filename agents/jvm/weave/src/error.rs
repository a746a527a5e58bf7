//! Why a class file cannot be read or changed.

use thiserror::Error;

/// Why a class cannot be read or changed. Positions are bytes of the file, or of a method's code where they say so.
#[derive(Clone, PartialEq, Eq, Error, Debug)]
pub enum Error {
    /// It does not begin as class files do.
    #[error("not a class file")]
    NotAClass,
    /// It ends too early.
    #[error("the class file ends at byte {at}, in the middle of something")]
    Truncated {
        /// Where more was wanted.
        at: usize,
    },
    /// There are bytes after its last attribute.
    #[error("{left} bytes follow the class file's end")]
    Trailing {
        /// How many.
        left: usize,
    },
    /// A constant with an unknown tag.
    #[error("constant {index} is of an unknown kind, {tag}")]
    UnknownConstant {
        /// Its number.
        index: u16,
        /// Its tag.
        tag: u8,
    },
    /// A constant of another kind than its use wants.
    #[error("constant {index} is not {wanted}")]
    WrongConstant {
        /// Its number.
        index: u16,
        /// What is wanted.
        wanted: &'static str,
    },
    /// Its static synchronized methods cannot be hooked.
    #[error("compiled for a Java before 5, with static synchronized methods")]
    TooOld,
    /// More constants than a class file can have.
    #[error("too many constants")]
    ManyConstants,
    /// More of something than its number in the file can say.
    #[error("too many {of}")]
    Many {
        /// Of what.
        of: &'static str,
    },
    /// An unknown instruction.
    #[error("unknown instruction {opcode:#04x} at {at}")]
    UnknownInstruction {
        /// Where, in the code.
        at: usize,
        /// Its first byte.
        opcode: u8,
    },
    /// A branch, a table or a frame names a position where no instruction begins.
    #[error("no instruction begins at {at}")]
    NoInstruction {
        /// That place in the code.
        at: i64,
    },
    /// An attribute is malformed.
    #[error("the attribute {name} is damaged")]
    Damaged {
        /// Its name.
        name: &'static str,
    },
    /// A hook that does not exist: a call of `foretrace.Monitor` with a wrong type.
    #[error("there is no hook {name} of this type")]
    UnknownHook {
        /// Its name.
        name: String,
    },
    /// The method would become larger than a method can be.
    #[error("the method would be larger than 65535 bytes")]
    TooLarge,
    /// A conditional branch would have to reach further than it can, and there would be a new target without a frame.
    #[error("a branch at {at} would have to reach too far")]
    TooFar {
        /// Where, in the code.
        at: usize,
    },
}

/// The result of reading or changing a class.
pub type Result<T> = std::result::Result<T, Error>;
