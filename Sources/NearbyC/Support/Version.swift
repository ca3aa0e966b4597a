// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyFusion

nonisolated(unsafe) private let version = unsafe UnsafePointer(CText.copy(NearbyVersion.current))

/// The version of the library, such as `1.2.0`.
@c @implementation
public func nearby_version() -> UnsafePointer<CChar>? { unsafe version }
