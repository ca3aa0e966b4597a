// SPDX-License-Identifier: Apache-2.0
public import Dispatch

/// A queue, by its name in C and Objective-C, which Apple's pages use.
public typealias dispatch_queue_t = DispatchQueue
