// SPDX-License-Identifier: Apache-2.0

/// What pages are made of, UTF-8: each is the content of a `<style>` or `<script>` element.
///
/// They are shared, so that a map looks and behaves the same in a report and live.
package enum PageParts {
  /// Colours, controls and tables.
  package static var style: [UInt8] { PackageResources.view_css }
  /// `nearbyView`: colours, numbers as text, the page's data.
  package static var view: [UInt8] { PackageResources.view_js }
  /// `nearbyMap`: a map as a plan, from the side and in three dimensions.
  package static var map: [UInt8] { PackageResources.map_js }
  /// `nearbyChart`: curves over time.
  package static var series: [UInt8] { PackageResources.series_js }
}
